import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { text } from '../messages/index.js';
import { useCopying } from './copying.js';

export function Copy({ value, label = text.common.copy }: { readonly value: string; readonly label?: string }) {
  const { told, copy } = useCopying();
  return (
    <Button
      variant="default"
      size="xs"
      aria-live="polite"
      onClick={() => {
        copy(value);
      }}
    >
      {told ?? label}
    </Button>
  );
}

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  /** Says whether the secret can be shown again. Default: it cannot. */
  readonly hint?: string;
}

/** A secret to be copied, usually because it is never shown again. */
export function SecretOnce({ title, secret, hint = text.common.shownOnce }: SecretProps) {
  return (
    <Alert color="green" title={title} role="status">
      <Stack gap="xs">
        <Text size="sm">{hint}</Text>
        <Group wrap="nowrap" align="flex-start">
          <Code block data-secret style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {secret}
          </Code>
          <Copy value={secret} />
        </Group>
      </Stack>
    </Alert>
  );
}
