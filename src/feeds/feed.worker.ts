/** The entry file of the feed worker, the thread that reads sources. Its code is in `worker/`. */
import { kernel } from '../../native-bindings/index.js';
import { WAITING_SLICE_MS } from '../platform/index.js';
import { serveHost } from '../platform/hosts/serve-host.js';
import type { FeedProtocol, FeedWorkerData } from './worker/feed-protocol.js';
import { FeedRuns } from './worker/feed-runs.js';

kernel.nameThread('gannet-feeds');
kernel.setThreadSlice(WAITING_SLICE_MS);

serveHost<FeedProtocol>((data, emit) => new FeedRuns(data as FeedWorkerData, emit).served());
