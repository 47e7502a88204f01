/** Opens the reader of recordings: processes that are started when there is something to read. */
import { provide, type FeatureParts } from '../operations/index.js';
import { serviceKey, settingsOf } from '../platform/index.js';
import { RecordingReader } from './recording-reader.js';
import { RECORDING_SETTINGS } from './settings.js';

/** Key by which other features find the reader. */
export const RECORDINGS = serviceKey<RecordingReader>('recordings');

const SECOND_MS = 1000;

export const recordingParts: FeatureParts = {
  operations: [],
  open({ config, log }) {
    const settings = settingsOf(config, RECORDING_SETTINGS);
    const reader = new RecordingReader({
      processes: settings.processes,
      memoryMibMax: settings.memory_mib_max,
      limits: {
        cuesMax: settings.cues_max,
        charactersMax: settings.characters_max,
        msMax: settings.seconds_max * SECOND_MS,
      },
      onDeath: (error) => {
        log.info({ reason: error.message }, 'A process that reads recordings ended; starting a new one');
      },
      onBug: (stack) => {
        log.error({ stack }, 'A process that reads recordings failed because of a bug');
      },
    });
    return { parts: [provide(RECORDINGS, reader)], close: () => reader.close() };
  },
};
