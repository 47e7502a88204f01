import type { ErrorComponentProps } from '@tanstack/react-router';
import { ServiceProblem } from '../service/client.js';
import { pageOf } from '../service/page-code.js';
import { FailedPage } from './failures.js';

/** Errors of a list that stays unavailable until somebody repairs it. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['list-damaged', 'list-format']);

const UnavailablePage = pageOf(() => import('../pages/list/unavailable-list.js'), 'UnavailablePage');

/** Shown in place of a list's pages that failed. */
export function FailedList(props: ErrorComponentProps) {
  const isUnavailable = props.error instanceof ServiceProblem && UNAVAILABLE.has(props.error.code);
  return isUnavailable ? <UnavailablePage {...props} /> : <FailedPage {...props} />;
}
