import { describe, expect, it } from 'vitest';
import { asOutboxEvent, EVENT_MEMBER_BYTES_MAX } from './outbox.js';

const bodyOf = (data: Readonly<Record<string, unknown>>) => {
  const { body } = asOutboxEvent('default', { type: 'list.updated', id: 'films', list: 'films', data }, 0);
  return { bytes: Buffer.byteLength(body), ...(JSON.parse(body) as { data: unknown }) };
};

describe('the body of an event', () => {
  it('contains members with a value, and leaves out undefined ones', () => {
    const data = { kind: 'list', name: 'films', changed: ['model'], model: null, reranker: undefined };
    expect(bodyOf(data)).toMatchObject({ id: 'films', list: 'films' });
    expect(bodyOf(data).data).toEqual({ kind: 'list', name: 'films', changed: ['model'], model: null });
  });

  it('replaces long members by their names, because a body is stored for each webhook', () => {
    const synonym_rules = Array.from({ length: 10_000 }, (_, index) => ({
      kind: 'equivalent',
      terms: [`schrank-${index}`, `möbel-${index}`],
    }));
    const query_rules = [{ name: 'isbn', pattern: '97[89][0-9]{10}', filter: "isbn = '$0'" }];
    const { bytes, data } = bodyOf({ kind: 'list', changed: ['synonym_rules'], query_rules, synonym_rules });
    expect(data).toEqual({ kind: 'list', changed: ['synonym_rules'], query_rules, left_out: ['synonym_rules'] });
    expect(bytes).toBeLessThan(1000);
  });

  it('measures the length of members in bytes, not characters', () => {
    const quoted = 2;
    expect(bodyOf({ text: 'x'.repeat(EVENT_MEMBER_BYTES_MAX - quoted) }).data).not.toHaveProperty('left_out');
    expect(bodyOf({ text: 'é'.repeat(EVENT_MEMBER_BYTES_MAX / 2) }).data).toEqual({ left_out: ['text'] });
  });
});
