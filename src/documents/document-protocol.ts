/** Protocol of the process that reads documents. */
import type { FileProtocol } from '../platform/hosts/index.js';
import type { DocumentFault, DocumentLimits, DocumentText } from './types.js';

export type DocumentProtocol = FileProtocol<DocumentText, DocumentLimits, DocumentFault>;
