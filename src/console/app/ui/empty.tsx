import { Card, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Where there is nothing yet: what it would be good for, and what to do first. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Card className="empty" p="lg">
      <Text maw="72ch">{children}</Text>
    </Card>
  );
}
