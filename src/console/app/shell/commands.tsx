import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  useSpotlight,
} from '@mantine/spotlight';
import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listList } from '../service/client.js';
import { readingLists } from '../service/lists.js';
import { useAccount, useMay } from '../service/session.js';
import { text } from '../messages/index.js';
import { LIST_PLACES, PLACES } from './places.js';

const LISTS_SHOWN = 8;

const [store, palette] = createSpotlight();

export const openCommands = (): void => {
  palette.open();
};

/**
 * Command palette, opened by Ctrl-K: leads to any page of any list. Works in input fields too, but not over a form,
 * which Escape would close with it.
 */
export function Commands() {
  const open = (): void => {
    if (document.querySelector('[aria-modal=true]') === null) openCommands();
  };
  useHotkeys([['mod + K', open]], []);
  return (
    <Spotlight
      store={store}
      actions={useActions()}
      shortcut={null}
      nothingFound={text.shell.noCommand}
      searchProps={{ placeholder: text.shell.commandsHint, 'aria-label': text.shell.commandsHint }}
      limit={LISTS_SHOWN * LIST_PLACES.length}
      scrollable
    />
  );
}

function useActions(): (SpotlightActionGroupData | SpotlightActionData)[] {
  const account = useAccount();
  const may = useMay();
  const navigate = useNavigate();
  const { opened } = useSpotlight(store);
  // Read only when the palette is open, since there may be thousands of lists.
  const { data } = useQuery({ ...readingLists(account), enabled: opened && may(listList) });
  const places = PLACES.filter(({ needs }) => may(needs)).map(({ to, label }) => ({
    id: to,
    label,
    onClick: () => void navigate({ to, params: { account } }),
  }));
  useEffect(selectFirst, [data]);
  const lists = (data?.lists ?? []).flatMap(({ name }) =>
    LIST_PLACES.map(({ to, label }) => ({
      id: `${name} ${to}`,
      label: `${name}: ${label}`,
      onClick: () => void navigate({ to, params: { account, list: name } }),
    })),
  );
  return [
    { group: text.shell.pages, actions: places },
    { group: text.lists.title, actions: lists },
  ];
}

/**
 * Selects the first command, which the palette does only on typing: results that arrive later would not be selected,
 * and Enter would do nothing.
 */
function selectFirst(): void {
  const { listId, query } = store.getState();
  const list = listId === '' ? null : document.getElementById(listId);
  if (query === '' || list === null || list.querySelector('[data-selected]') !== null) return;
  const first = list.querySelector('[data-action]');
  if (first === null) return;
  first.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}
