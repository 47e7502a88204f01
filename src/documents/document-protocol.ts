/** What is asked of the process that reads documents. */
import type { DocumentFault, DocumentLimits, DocumentText } from './types.js';

export interface DocumentProtocol {
  readonly questions: {
    /** Answered as soon as documents can be read. */
    readonly ready: { readonly ask: null; readonly answer: null };
    readonly read: {
      readonly ask: { readonly bytes: Uint8Array; readonly limits: DocumentLimits };
      readonly answer: DocumentText | { readonly fault: DocumentFault; readonly message: string };
    };
  };
  readonly notices: Record<never, never>;
  readonly events: Record<never, never>;
}
