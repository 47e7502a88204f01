import { listGroupList, listList } from './client.js';
import { readingAll } from './queries.js';

/** All lists of an account without their rules, which may be megabytes; pages that show rules read the list itself. */
export const readingLists = (account: string) => readingAll(listList, { params: { account }, query: { rules: false } });

export const readingGroups = (account: string) => readingAll(listGroupList, { params: { account } });
