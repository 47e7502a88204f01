/** What is asked of the process that reads pictures. */
import type { DescribedPicture, PictureFault, PictureLimits } from './types.js';

export interface PictureProtocol {
  readonly questions: {
    /** Answered as soon as pictures can be read. */
    readonly ready: { readonly ask: null; readonly answer: null };
    readonly read: {
      readonly ask: { readonly bytes: Uint8Array; readonly limits: PictureLimits };
      readonly answer: DescribedPicture | { readonly fault: PictureFault; readonly message: string };
    };
  };
  readonly notices: Record<never, never>;
  readonly events: Record<never, never>;
}
