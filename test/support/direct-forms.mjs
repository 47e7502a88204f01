/**
 * Short forms for the test of direct lines: of questions with a text, whose answer says which way they came, and of
 * every answer.
 */
const SAID = 'by the line: ';

const json = (isPacked, unpacked) => ({
  pack: (message) => (isPacked(message) ? Buffer.from(JSON.stringify(message)) : undefined),
  unpack: (bytes) => unpacked(JSON.parse(bytes.toString('utf8'))),
});

export const directForms = {
  toWorker: json(
    ({ kind, ask }) => kind === 'question' && typeof ask === 'string',
    (message) => ({ ...message, ask: SAID + message.ask }),
  ),
  fromWorker: json(
    ({ kind, reply }) => kind === 'answer' && typeof reply.value === 'string',
    (message) => ({ ...message, reply: { ...message.reply, value: SAID + message.reply.value } }),
  ),
};
