import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, lead, actions, children }: PageProps) {
  useTitle(title);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start">
        <Box>
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {lead === undefined ? null : <Text c="dimmed">{lead}</Text>}
        </Box>
        {actions === undefined ? null : <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Gannet`;
  }, [title]);
}

interface SectionProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, or a page within the frame of a list. */
export function Section({ title, lead, actions, children }: SectionProps) {
  return (
    <Stack component="section" gap="md" aria-label={title}>
      <Group justify="space-between" align="flex-start">
        <Box>
          <Title order={2} size="h4">
            {title}
          </Title>
          {lead === undefined ? null : (
            <Text c="dimmed" size="sm">
              {lead}
            </Text>
          )}
        </Box>
        {actions === undefined ? null : <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
