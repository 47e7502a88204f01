import type { ErrorComponentProps } from '@tanstack/react-router';
import { ServiceProblem } from '../service/client.js';
import { pageOf } from '../service/page-code.js';
import { FailedPage } from './failures.js';

/** The list is there and cannot be asked until somebody does something about it. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['list-damaged', 'list-format']);

const UnavailablePage = pageOf(() => import('../pages/list/unavailable-list.js'), 'UnavailablePage');

/** In the place of the pages of a list that could not be shown. */
export function FailedList(props: ErrorComponentProps) {
  const isUnavailable = props.error instanceof ServiceProblem && UNAVAILABLE.has(props.error.code);
  return isUnavailable ? <UnavailablePage {...props} /> : <FailedPage {...props} />;
}
