import { Box, NavLink, Text } from '@mantine/core';
import { Link, useMatchRoute } from '@tanstack/react-router';
import { text } from '../messages/index.js';
import { useAccount, useMay } from '../service/session.js';
import { PLACES, type Place } from './places.js';

export function Navigation({ onNavigate }: { readonly onNavigate: () => void }) {
  const account = useAccount();
  const may = useMay();
  const matches = useMatchRoute();
  const isIn = (to: '/$account/list/$list' | '/$account/group/$group'): boolean =>
    matches({ to, fuzzy: true }) !== false;
  /** Pages below others, with addresses of their own. */
  const below: Partial<Record<Place['to'], boolean>> = {
    '/$account/lists': isIn('/$account/list/$list'),
    '/$account/groups': isIn('/$account/group/$group'),
  };
  const shown = PLACES.filter(({ needs }) => may(needs));
  return Object.entries(text.shell.parts).map(([part, title]) => {
    const places = shown.filter((place) => place.part === part);
    if (places.length === 0) return null;
    return (
      <Box key={part} component="section" aria-label={title} mb="xs">
        <Text size="xs" c="dimmed" fw={600} px="sm" pb={2} aria-hidden>
          {title}
        </Text>
        {places.map(({ to, label }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            params={{ account } as never}
            label={label}
            py={6}
            {...(below[to] === true ? { active: true } : {})}
            activeOptions={{ exact: to === '/$account' }}
            onClick={onNavigate}
          />
        ))}
      </Box>
    );
  });
}
