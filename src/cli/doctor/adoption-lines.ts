/** Describes the results of `gannet doctor --adopt-lists`. */
import type { AdoptedList, AdoptionReport } from '../../index/index.js';
import { formatRecords, printable } from '../output.js';

export function adoptionLines({ accounts, lists, put_back, left }: AdoptionReport): string[] {
  const lines = [
    ...accounts.map((name) => `Created the account ${printable(name)} again.`),
    ...lists.map(adoptedLine),
    ...put_back.map((id) => `Moved the folder of the list ${id}, which is in the catalogue, back into place.`),
    ...left.map(({ path, reason }) => `Left ${path} where it is: ${printable(reason)}`),
  ];
  if (lines.length === 0) return ['There are no lists to adopt: the catalogue has them all.'];
  if (lists.length > 0)
    lines.push('', 'API keys, groups and webhooks are not stored with the lists. Create those that you need again.');
  return lines;
}

function adoptedLine({ account, name, former_name, records, settings_known }: AdoptedList): string {
  const named = `Adopted the list ${printable(`${account}/${name}`)} with ${formatRecords(records)}`;
  const renamed =
    former_name === undefined
      ? ''
      : former_name === null
        ? '; its name and account are unknown, because an earlier release created it'
        : `; its name ${printable(former_name)} is taken by another list`;
  const settings = settings_known
    ? ''
    : '; its language was taken from its fields, and its rules and synonyms are lost';
  return `${named}${renamed}${settings}.`;
}
