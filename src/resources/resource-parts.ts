/** Opens the readers of files that records link to. */
import { join } from 'node:path';
import { DOCUMENTS, DOCUMENT_SETTINGS } from '../documents/index.js';
import { mediaUrl } from '../fields/index.js';
import type { ListIndexes } from '../index/index.js';
import { MEDIA_STORES } from '../media/index.js';
import { MODELS } from '../models/index.js';
import { PICTURES, PICTURE_SETTINGS } from '../pictures/index.js';
import { provide, type FeatureParts, type FeaturePlatform } from '../operations/index.js';
import { RECORDINGS, RECORDING_SETTINGS, VideoFrames } from '../recordings/index.js';
import { memoryBudget, settingsOf } from '../platform/index.js';
import { ChangedFiles } from './changed-files.js';
import { GivenPictures } from './given-picture.js';
import { mediaFiles } from './media-files.js';
import { PictureModels } from './picture-models.js';
import { GIVEN_PICTURES } from './picture-search.js';
import { createResourceMetrics } from './resource-metrics.js';
import { resourceLists, resourceOperations } from './resource-operations.js';
import { ResourceReader } from './resource-reader.js';
import { RESOURCE_SETTINGS, type ResourceSettings } from './settings.js';
import { SharedFiles } from './shared-files.js';
import { recordingUrls } from './subtitle-urls.js';
import { WebFiles } from './web-files.js';

const SECOND_MS = 1000;
/** Interval at which a missing ffmpeg is looked for, which costs a few calls of the file system. */
const FFMPEG_LOOK_MS = 5000;
/** Folder in the data directory where videos are, without a name, while they are decoded. */
const VIDEOS_FOLDER = 'videos';
const HOUR_MS = 3_600_000;
const MEBIBYTE = 2 ** 20;
/** Each has an open descriptor. */
const SHARED_FILES_MAX = 256;

export const resourceParts: FeatureParts = {
  operations: resourceOperations,
  lists: resourceLists,
  open(platform) {
    const { config, indexes, listen } = platform;
    const settings = settingsOf(config, RESOURCE_SETTINGS);
    const recordings = settingsOf(config, RECORDING_SETTINGS);
    const bytesMax = {
      document: settingsOf(config, DOCUMENT_SETTINGS).bytes_max,
      image: settingsOf(config, PICTURE_SETTINGS).bytes_max,
      video: recordings.bytes_max,
      audio: recordings.bytes_max,
      frames: recordings.bytes_max,
    };
    const stores = platform.part(MEDIA_STORES);
    const web = new WebFiles({
      rules: config.outbound,
      bytesMax: Math.max(...Object.values(bytesMax)),
      totalMs: settings.fetch_seconds * SECOND_MS,
      connectionsPerHost: settings.connections_per_host,
      connections: settings.parallel,
    });
    const models = platform.part(MODELS);
    const pictures = new PictureModels({ reader: platform.part(PICTURES), models });
    const frames = videoFrames(settings, platform.dataDir);
    let looking: NodeJS.Timeout | undefined;
    const reader = new ResourceReader({
      documents: platform.part(DOCUMENTS),
      pictures,
      recordings: platform.part(RECORDINGS),
      frames,
      framesParallel: settings.frames_parallel,
      models: platform.part(MODELS),
      transcriptionBytesMax: recordings.transcription_bytes_max,
      transcribedMax: recordings.transcriptions,
      transcriptionRetryMs: recordings.transcription_retry_seconds.map((seconds) => seconds * SECOND_MS),
      shared: new SharedFiles({
        folder: join(platform.dataDir, VIDEOS_FOLDER),
        bytesMax: settings.shared_mib_max * MEBIBYTE,
        filesMax: SHARED_FILES_MAX,
        keptMsMax: HOUR_MS,
      }),
      web: web.fetch,
      media: mediaFiles(stores),
      metrics: createResourceMetrics(platform.metrics),
      bytesMax,
      subtitleBytesMax: recordings.subtitle_bytes_max,
      heldBytesMax: memoryBudget(config).readFilesBytesMax,
      parallel: settings.parallel,
      parallelPerList: settings.parallel_per_list,
      checkMs: settings.check_hours * HOUR_MS,
      retryMs: settings.retry_seconds.map((seconds) => seconds * SECOND_MS),
    });
    const given = new GivenPictures({ pictures, web: web.fetch, media: mediaFiles(stores), bytesMax: bytesMax.image });
    stores.usedBy((account, store) => usersOf(platform, account, store));
    const changed = new ChangedFiles(platform);
    stores.onChange((account, store, path) => {
      const url = mediaUrl(store, path);
      changed.add(account, url, ...recordingUrls(url));
    });
    return {
      parts: [provide(GIVEN_PICTURES, given)],
      // A process that runs a single command leaves the reading to the service.
      start: () => {
        if (listen) looking = useReader(indexes, reader, frames);
      },
      close: async () => {
        clearInterval(looking);
        await Promise.all([reader.close(), changed.close(), web.close()]);
      },
    };
  },
};

function videoFrames(settings: ResourceSettings, dataDir: string): VideoFrames {
  return new VideoFrames({
    ffmpeg: settings.ffmpeg,
    folder: join(dataDir, VIDEOS_FOLDER),
    everySeconds: settings.frame_seconds,
    framesMax: settings.frames_max,
    msMax: settings.frames_seconds_max * SECOND_MS,
    memoryMibMax: settings.frames_memory_mib_max,
  });
}

/** Notifies lists again when a missing ffmpeg has been installed. Returns the timer that looks for it. */
function useReader(indexes: ListIndexes, reader: ResourceReader, frames: VideoFrames): NodeJS.Timeout | undefined {
  indexes.useReader(reader);
  if (frames.lookForProgram()) return undefined;
  const looking = setInterval(() => {
    if (!frames.lookForProgram()) return;
    clearInterval(looking);
    indexes.useReader(reader);
  }, FFMPEG_LOOK_MS);
  return looking.unref();
}

/** Returns the account's lists whose records link to files of the store. */
function usersOf({ catalog, indexes }: FeaturePlatform, account: string, store: string): string[] {
  const lists = catalog.lists(account).filter(({ id }) => indexes.linksBelow(id, mediaUrl(store, '')));
  return lists.map(({ name }) => `list ${name}`);
}
