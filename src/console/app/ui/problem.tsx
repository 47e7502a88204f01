import { Alert, Button, List, Text } from '@mantine/core';
import { ServiceProblem } from '../service/client.js';
import { text } from '../messages/index.js';
import { isSignedOut } from '../service/queries.js';
import { labelOf } from './labels.js';
import { titleOf } from './problem-title.js';

interface ProblemProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** True if the page shows the error's title itself. */
  readonly isTitled?: boolean;
}

/** Shows an error, with the service's own message if there is one. Nothing if there is no error. */
export function Problem({ error, onRetry, isTitled = false }: ProblemProps) {
  if (error === null || error === undefined) return null;
  return (
    <Alert color="red" role="alert" title={isTitled ? undefined : titleOf(error)}>
      <Text size="sm">{sentenceOf(error)}</Text>
      {error instanceof ServiceProblem && error.errors.length > 1 ? (
        <List size="sm" mt="xs">
          {error.errors.map(({ pointer, parameter, detail }) => (
            <List.Item key={`${pointer ?? parameter ?? ''} ${detail}`}>{inWords(detail)}</List.Item>
          ))}
        </List>
      ) : null}
      {onRetry === undefined ? null : (
        <Button variant="default" size="xs" mt="sm" onClick={onRetry}>
          {text.common.retry}
        </Button>
      )}
    </Alert>
  );
}

function sentenceOf(error: unknown): string {
  // The service's message is meant for programs, and speaks of keys.
  if (isSignedOut(error)) return text.problems.signedOutLead;
  return error instanceof Error ? inWords(error.message) : text.problems.unexpected;
}

/** Replaces a pointer by the form's label: `/start_urls/0: Must be …` → `Addresses to begin with: Must be …`. */
export function inWords(detail: string): string {
  const [, pointer, rest] = /^(\/[\w/-]+): (.*)$/s.exec(detail) ?? [];
  const name = pointer?.split('/').findLast((part) => /^[a-z_]+$/.test(part));
  return name === undefined ? detail : `${labelOf(name)}: ${rest ?? ''}`;
}
