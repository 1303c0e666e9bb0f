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

export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'rind',
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  // The default computes the text of filled widgets for the light shade alone.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    const isPrimary = input.color === undefined || input.color === input.theme.primaryColor;
    return input.variant === 'filled' && isPrimary
      ? { ...colors, color: 'var(--mantine-primary-color-contrast)' }
      : colors;
  },
  colors: { rind },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600' },
  components: {
    NumberInput: { defaultProps: { hideControls: true } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
});

/** The colors of the environments: each also has its name in words. */
export const environmentColors = {
  production: { background: '#a3200d', color: '#ffffff' },
  sandbox: { background: '#f2b544', color: '#201703' },
  local: { background: '#5f6368', color: '#ffffff' },
} as const;
