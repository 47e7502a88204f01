/** The operations that declared commands speak for and no feature has: a file of its own, so that the registry with all others stays unloaded. */
import {
  accountOperations,
  progressOperations,
  serviceSettingsOperations,
  serviceStateOperations,
} from '../operations/index.js';

export const coreOperations = [
  ...accountOperations,
  ...progressOperations,
  ...serviceSettingsOperations,
  ...serviceStateOperations,
];
