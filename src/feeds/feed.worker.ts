/** The feed worker: the thread that reads sources. What it does is in `worker/`. */
import { serveHost } from '../platform/hosts/serve-host.js';
import type { FeedProtocol, FeedWorkerData } from './worker/feed-protocol.js';
import { FeedRuns } from './worker/feed-runs.js';

serveHost<FeedProtocol>((data, emit) => new FeedRuns(data as FeedWorkerData, emit).served());
