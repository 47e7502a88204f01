/** What `gannet doctor --adopt-lists` has done, for people. */
import type { AdoptedList, AdoptionReport } from '../../index/index.js';
import { formatRecords, printable } from '../output.js';

export function adoptionLines({ accounts, lists, put_back, left }: AdoptionReport): string[] {
  const lines = [
    ...accounts.map((name) => `The account ${printable(name)} is made again.`),
    ...lists.map(adoptedLine),
    ...put_back.map((id) => `The folder of the list ${id}, which the catalogue knows, is back in its place.`),
    ...left.map(({ path, reason }) => `${path} stays where it is: ${printable(reason)}`),
  ];
  if (lines.length === 0) return ['There is no list that the catalogue does not know.'];
  if (lists.length > 0)
    lines.push('', 'Keys, groups and webhooks are not kept with the lists: make those again that you need.');
  return lines;
}

function adoptedLine({ account, name, former_name, records, settings_known }: AdoptedList): string {
  const named = `The list ${printable(`${account}/${name}`)} is back, with ${formatRecords(records)}`;
  const renamed =
    former_name === undefined
      ? ''
      : former_name === null
        ? '; its name and account are not known, an earlier release made it'
        : `; its name was ${printable(former_name)}, which another list has`;
  const settings = settings_known ? '' : '; language by its fields, no rules and no synonyms';
  return `${named}${renamed}${settings}.`;
}
