/** Result of one check of `doctor`. */
export interface Check {
  readonly name: string;
  /** `notice`: the service runs, but somebody should know. `failed`: it would not run, or not for long. */
  readonly state: 'fine' | 'notice' | 'failed';
  readonly detail: string;
}

export const fine = (name: string, detail: string): Check => ({ name, state: 'fine', detail });
export const notice = (name: string, detail: string): Check => ({ name, state: 'notice', detail });
export const failed = (name: string, detail: string): Check => ({ name, state: 'failed', detail });

/** Returns the first line of the message of anything thrown. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
