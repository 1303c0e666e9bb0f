/** Colors and defaults of the widgets. Every text has a contrast of 4.5 or more on its background. */
import {
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from '@mantine/core';

const rind: MantineColorsTuple = [
  '#fff6e5',
  '#fdebcb',
  '#f9d797',
  '#f5c35f',
  '#f2b544',
  '#d98e04',
  '#b06f00',
  '#9a5b00',
  '#8a5200',
  '#6f4200',
];

/** The neutral colors of widgets, as warm as those of the pages. */
const gray: MantineColorsTuple = [
  '#faf7f0',
  '#f4efe4',
  '#ebe4d6',
  '#ddd2bd',
  '#cdc2ac',
  '#aca08a',
  '#857a67',
  '#4d4537',
  '#363025',
  '#231e15',
];

const dark: MantineColorsTuple = [
  '#d6cdbe',
  '#c4baa8',
  '#8f8572',
  '#736a5a',
  '#4a4234',
  '#3f382c',
  '#2c271f',
  '#221e17',
  '#1c1812',
  '#120f0b',
];

const red: MantineColorsTuple = [
  '#fff0ee',
  '#ffdfdb',
  '#ffc4bc',
  '#ffb0a0',
  '#ff9e8a',
  '#e5533d',
  '#c73520',
  '#a3200d',
  '#941c0b',
  '#85180a',
];

export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'rind',
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    const isPrimary = input.color === undefined || input.color === input.theme.primaryColor;
    if (input.variant === 'filled' && (isPrimary || input.color === 'red')) {
      // The default computes the text for the light shade alone.
      return { ...colors, color: isPrimary ? 'var(--mantine-primary-color-contrast)' : 'var(--curd-on-red)' };
    }
    if (input.color === 'red' && (input.variant === 'subtle' || input.variant === 'outline')) {
      // Deletions are red in the dark, too: the default there is nearly white.
      return {
        ...colors,
        color: 'var(--curd-fault)',
        border: colors.border.replace(/var\(.*/, 'var(--curd-fault)'),
      };
    }
    // The tints of green and yellow are too close to their text.
    return input.variant === 'light' && !isPrimary
      ? { ...colors, color: 'var(--mantine-color-text)' }
      : colors;
  },
  colors: { rind, gray, dark, red },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600' },
  components: {
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
});
