/** Opens the reader of pictures: processes that are started when there is something to read. */
import { provide, type FeatureParts } from '../operations/index.js';
import { serviceKey, settingsOf } from '../platform/index.js';
import { PictureReader } from './picture-reader.js';
import { PICTURE_SETTINGS } from './settings.js';

/** Key by which other features find the reader. */
export const PICTURES = serviceKey<PictureReader>('pictures');

const SECOND_MS = 1000;

export const pictureParts: FeatureParts = {
  operations: [],
  open({ config, log }) {
    const settings = settingsOf(config, PICTURE_SETTINGS);
    const reader = new PictureReader({
      processes: settings.processes,
      memoryMibMax: settings.memory_mib_max,
      limits: { pixelsMax: settings.pixels_max, msMax: settings.seconds_max * SECOND_MS },
      onDeath: (error) => {
        log.info({ reason: error.message }, 'A process that reads pictures ended; starting a new one');
      },
      onBug: (stack) => {
        log.error({ stack }, 'A process that reads pictures failed because of a bug');
      },
    });
    return { parts: [provide(PICTURES, reader)], close: () => reader.close() };
  },
};
