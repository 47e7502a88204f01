import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listRead, ServiceProblem } from '../service/client.js';
import { pageOf } from '../service/page-code.js';
import { queries } from '../service/queries.js';
import { FailedPage } from './failures.js';

/** Errors of a list that stays unavailable until somebody repairs it. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['list-damaged', 'list-format']);

const UnavailablePage = pageOf(() => import('../pages/list/unavailable-list.js'), 'UnavailablePage');

/** Shown in place of a list's pages that failed. */
export function FailedList(props: ErrorComponentProps) {
  useEffect(() => {
    // What was read of a list that is gone would fail again with the same error, also after the list is created anew.
    queries.removeQueries({ queryKey: [listRead.route.name] });
  }, []);
  const isUnavailable = props.error instanceof ServiceProblem && UNAVAILABLE.has(props.error.code);
  return isUnavailable ? <UnavailablePage {...props} /> : <FailedPage {...props} />;
}
