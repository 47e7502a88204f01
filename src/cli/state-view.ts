/** `gannet service state`: shows the state of the service. */
import type { AnswerPrinter } from '../operations/index.js';
import {
  backupText,
  databasesText,
  diskText,
  listsText,
  memoryText,
  processText,
  troubleTexts,
  waitingText,
  type ToldState,
} from './service-state-text.js';

export const stateView: AnswerPrinter = (answer, { table }) => {
  const state = answer as ToldState;
  const troubles = troubleTexts(state);
  const databases = databasesText(state);
  const rows = [
    ['Service', processText(state)],
    ['Disk', diskText(state)],
    ['Memory', memoryText(state)],
    ['Lists', listsText(state)],
    ['Waiting', waitingText(state)],
    ['Last backup', backupText(state, Date.now()).text],
    ...(databases === undefined ? [] : [['Databases', databases]]),
    ...(troubles.length === 0 ? [['Troubles', 'none']] : troubles.map((told) => ['Trouble', told])),
  ];
  return table(rows);
};
