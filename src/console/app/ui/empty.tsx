import { Card, Text } from '@mantine/core';
import { useMay } from '../service/session.js';
import { firstSentence } from './first-sentence.js';

interface EmptyProps {
  /** Operation of the next step. Somebody who may not call it sees only what is missing. */
  readonly step: Parameters<ReturnType<typeof useMay>>[0];
  /** What is missing, as the first sentence, and the next step. */
  readonly children: string;
}

/** Shown where there is nothing yet. */
export function Empty({ step, children }: EmptyProps) {
  const may = useMay();
  return (
    <Card className="empty" p="lg">
      <Text maw="72ch">{may(step) ? children : firstSentence(children)}</Text>
    </Card>
  );
}
