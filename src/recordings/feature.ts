/** Recordings as a feature: what the service needs to read the video and audio files of others. */
import type { Feature } from '../operations/index.js';
import { RECORDING_SETTINGS } from './settings.js';

export const recordings: Feature = {
  name: 'recordings',
  settings: RECORDING_SETTINGS,
  load: async () => (await import('./recording-parts.js')).recordingParts,
};
