/** What the main thread and the thread that looks at how much lies in a folder say to each other. */
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
