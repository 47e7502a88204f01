import { NavLink } from '@mantine/core';
import { Link, useMatchRoute } from '@tanstack/react-router';
import { useAccount, useMay } from '../service/session.js';
import { PLACES, type Place } from './places.js';

export function Navigation({ onNavigate }: { readonly onNavigate: () => void }) {
  const account = useAccount();
  const may = useMay();
  const matches = useMatchRoute();
  const isIn = (to: '/$account/list/$list' | '/$account/group/$group'): boolean =>
    matches({ to, fuzzy: true }) !== false;
  /** What is below a page and has an address of its own. */
  const below: Partial<Record<Place['to'], boolean>> = {
    '/$account/lists': isIn('/$account/list/$list'),
    '/$account/groups': isIn('/$account/group/$group'),
  };
  return PLACES.filter(({ needs }) => may(needs)).map(({ to, label }) => {
    return (
      <NavLink
        key={to}
        component={Link}
        to={to}
        params={{ account } as never}
        label={label}
        {...(below[to] === true ? { active: true } : {})}
        activeOptions={{ exact: to === '/$account' }}
        onClick={onNavigate}
      />
    );
  });
}
