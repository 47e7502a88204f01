/** Chat models, which answer a few messages with a text. Callers have to check the text before using it. */
import type { JsonService } from './json-service.js';
import type { GuardedCalls } from './guarded-calls.js';
import { memberOf } from './checked-answers.js';
import { within } from './deadline.js';
import { ModelError } from './model-error.js';
import { estimateTokens } from './passages.js';
import type { RemoteModel } from './remote-models.js';

export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface ChatAsk {
  readonly messages: readonly ChatMessage[];
  /** Limit on the tokens of the answer. */
  readonly tokensMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Protocol of one provider of chat models. */
export interface ChatSource {
  /** Rejects with a ModelError, or the signal's reason. */
  write(ask: ChatAsk): Promise<string>;
}

/** Limit on a server's whole answer; the text in it is far shorter. */
export const CHAT_ANSWER_BYTES_MAX = 1_048_576;

/**
 * Name of the member that limits the answer. Most servers call it `max_tokens`; those with reasoning models call it
 * `max_completion_tokens`, and these models take no temperature either.
 */
type LengthMember = 'max_tokens' | 'max_completion_tokens';

/** Client of OpenAI's `/v1/chat/completions`. */
export class OpenAiChat implements ChatSource {
  #member: LengthMember = 'max_tokens';

  constructor(
    private readonly service: JsonService,
    private readonly model: Pick<RemoteModel, 'served_name'>,
  ) {}

  async write(ask: ChatAsk): Promise<string> {
    const answer = await this.#asked(ask);
    const choices = memberOf(answer, 'choices');
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const content = memberOf(memberOf(choice, 'message'), 'content');
    if (typeof content !== 'string') {
      throw new ModelError('The server answered no text (choices[0].message.content).', {
        retry: 'later',
        reason: 'bad-answer',
      });
    }
    return content;
  }

  async #asked(ask: ChatAsk): Promise<unknown> {
    try {
      return await this.service.post(this.#body(ask, this.#member), ask.signal);
    } catch (error) {
      if (!(error instanceof ModelError) || error.retry !== 'never') throw error;
      const other = this.#member === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
      const answer = await this.service.post(this.#body(ask, other), ask.signal);
      this.#member = other;
      return answer;
    }
  }

  #body({ messages, tokensMax }: ChatAsk, member: LengthMember) {
    const model = this.model.served_name ?? '';
    return { model, messages, [member]: tokensMax, ...(member === 'max_tokens' ? { temperature: 0 } : {}) };
  }
}

/** A chat model behind its rate limit and its circuit breaker. */
export class ChatModel {
  constructor(
    readonly name: string,
    private readonly source: ChatSource,
    private readonly calls: GuardedCalls,
    /** Limit from the question to the answer, including the wait for the rate limit. */
    private readonly msMax: number,
  ) {}

  /** Returns the model's text unchecked. Rejects with a ModelError, or the signal's reason. */
  write(ask: ChatAsk): Promise<string> {
    const asked = ask.messages.reduce((sum, { content }) => sum + estimateTokens(content), 0);
    return within(
      this.msMax,
      (signal) => this.calls.run(asked + ask.tokensMax, () => this.source.write({ ...ask, signal }), signal),
      ask.signal,
    );
  }
}
