/** Colours and sizes. Texts have a contrast of at least 4.5 to their background (WCAG 2.2, 1.4.3) in both themes. */
import { createTheme, type CSSVariablesResolver } from '@mantine/core';

const TINTED = ['blue', 'gray', 'green', 'red', 'orange', 'violet'];

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  headings: { fontWeight: '650' },
  components: {
    // The header of a dialog must not be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
});

export const colours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-8)',
    ...texts(9),
    ...hovered(),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-3)',
    ...texts(2),
  },
});

/** Text colours on tinted backgrounds: badges, alerts, quiet buttons. */
function texts(shade: number): Record<string, string> {
  return Object.fromEntries(
    TINTED.flatMap((colour) => [
      [`--mantine-color-${colour}-light-color`, textColour(colour, shade)],
      [`--mantine-color-${colour}-text`, textColour(colour, shade)],
    ]),
  );
}

/** Tints under the pointer: the library's own are too dark for the text on them. */
function hovered(): Record<string, string> {
  const tint = (colour: string, shade: number) => `var(--mantine-color-${colour}-${shade})`;
  return Object.fromEntries(
    TINTED.map((colour) => [
      `--mantine-color-${colour}-light-hover`,
      `color-mix(in srgb, ${tint(colour, 1)} 75%, ${tint(colour, 2)})`,
    ]),
  );
}

/** The library's darkest shades are too light on their own tints. */
const DARKER: Readonly<Record<string, string>> = { green: '#1b5e2a', orange: '#983403' };

function textColour(colour: string, shade: number): string {
  return (shade === 9 ? DARKER[colour] : undefined) ?? `var(--mantine-color-${colour}-${shade})`;
}
