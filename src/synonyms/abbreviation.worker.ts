/** Entry of the thread that reads records for abbreviations. */
import { kernel } from '../../native-bindings/index.js';
import { serveHost } from '../platform/hosts/serve-host.js';
import { RecordStoreCache } from '../records/index.js';
import type { AbbreviationProtocol } from './abbreviation-protocol.js';
import { scanAbbreviations } from './abbreviation-scan.js';

const stores = new RecordStoreCache();

serveHost<AbbreviationProtocol>(() => ({
  answers: { step: (task) => scanAbbreviations(kernel, stores, task) },
  notices: {},
  close: () => stores.close(),
}));
