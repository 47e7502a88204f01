import { Card, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shown where there is nothing yet: its purpose, and the first step. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Card className="empty" p="lg">
      <Text maw="72ch">{children}</Text>
    </Card>
  );
}
