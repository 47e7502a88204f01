/** A command of `gannet` that speaks for one operation: what it takes, and its help, come from the operation. */
export interface CommandSpec {
  /** As it is typed behind `gannet`: `model add`. */
  readonly name: string;
  /** What all commands are about that begin with the same word, where this is the first of them: in the list of all commands. */
  readonly group?: string;
  /** Name of the operation. */
  readonly operation: string;
  /** Default: the operation's summary. */
  readonly description?: string;
  /** Parameters and members of the body that are typed in this order without their names. The others are options: `--interval-minutes`. */
  readonly arguments?: readonly string[];
  /** Members that are paths of this machine: completed from the folder in which the command is called, but for places in media stores (`media:…`). */
  readonly paths?: readonly string[];
  /** Loads what says how arguments and options, as they were typed, may have been meant otherwise: the command then does nothing, with exit status 2. */
  readonly unclear?: () => Promise<(values: readonly string[], options: TypedOptions) => string | undefined>;
  /**
   * Members that are read from standard input and never typed on the command line, where others could read them. One that may be left out is
   * read where `--<name>-stdin` is given, and not waited for otherwise.
   */
  readonly secrets?: readonly string[];
  /** What may stand behind the name in a call that is right: the help shows it, and the tests make it. Needed where anything has to stand there. */
  readonly example?: readonly string[];
  /** It may be the first call of all: a data directory is made for it. Others say where there is none, and make nothing. */
  readonly begins?: true;
  /** Loads what answers where there is no data directory; undefined where that is needed. Given the operation's query. */
  readonly alone?: () => Promise<(query: Readonly<Record<string, unknown>>) => Promise<unknown> | undefined>;
  /** What waits for the service, where it does not run: told on standard error behind "The service is not running: ". */
  readonly whileStopped?: string;
  /** Loads what turns the answer into text for people. Default: the answer as JSON, as `--json` always prints it. */
  readonly print?: () => Promise<AnswerPrinter>;
  /** Loads what tells an answer after which the command ends with exit status 1. Default: none. */
  readonly hasFailed?: () => Promise<(answer: unknown) => boolean>;
  /** The call begins a job: it is shown how far this is until it is over, and then how it stands. With `--no-wait` it is not waited for. */
  readonly follow?: () => Promise<JobFollower>;
}

/** By their names in camel case. */
export type TypedOptions = Readonly<Record<string, string | boolean | undefined>>;

export interface JobFollower {
  /** As the job is listed by `progress.read`, with its name. */
  readonly kind: string;
  readonly nameOf: (begun: unknown) => string;
  /** Reads how it stands, by the same parameters. */
  readonly operation: string;
  /** By the answer of the call, and what was read since. True for what is no such answer: nothing is waited for without end. */
  readonly isOver: (begun: unknown, now: unknown) => boolean;
  readonly hasFailed: (now: unknown) => boolean;
}

export type AnswerPrinter = (answer: unknown, text: CommandText) => string;

/** How texts for people are laid out. */
export interface CommandText {
  /** Columns side by side; the first row is the heading. */
  readonly table: (rows: readonly (readonly string[])[]) => string;
  /** `117,791`. */
  readonly count: (value: number) => string;
  /** `1 page`, `1,024 pages`. */
  readonly counted: (value: number, noun: string) => string;
  /** `1.4 GiB`. */
  readonly bytes: (value: number) => string;
}
