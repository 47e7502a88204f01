/** The messages between the main thread and the worker of echoes. */
export interface EchoProtocol {
  readonly questions: { readonly reverse: { readonly ask: string; readonly answer: string } };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: Readonly<Record<never, unknown>>;
}
