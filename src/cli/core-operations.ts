/**
 * Operations of declared commands that belong to no feature. In a separate file, so that the registry with all others
 * is not loaded.
 */
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
