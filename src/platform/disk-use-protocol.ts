/** Messages between the main thread and the thread that measures how much a folder holds. */
export interface DiskUseProtocol {
  readonly questions: {
    readonly look: {
      readonly ask: string;
      readonly answer: readonly { readonly name: string; readonly bytes: number }[];
    };
  };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: Readonly<Record<never, unknown>>;
}
