/** Recordings as a feature: reading untrusted video and audio files. */
import type { Feature } from '../operations/index.js';
import { RECORDING_SETTINGS } from './settings.js';

export const recordings: Feature = {
  name: 'recordings',
  settings: RECORDING_SETTINGS,
  load: async () => (await import('./recording-parts.js')).recordingParts,
};
