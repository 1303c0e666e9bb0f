/** Runs before the page is shown: the color scheme that the person has chosen, which Mantine stores. */
try {
  const chosen = localStorage.getItem('mantine-color-scheme-value');
  if (chosen === 'light' || chosen === 'dark') {
    document.documentElement.dataset.mantineColorScheme = chosen;
  }
} catch {
  // A browser that stores nothing shows the scheme of the system.
}
