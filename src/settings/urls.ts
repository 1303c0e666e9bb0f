/** URLs that clients use, derived from the settings. */

interface ServerSettings {
  readonly publicUrl: string | null;
  readonly host: string;
  readonly port: number;
}

/** Whether this host name, or the host name of a URL, is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]', '::1'].includes(hostname);
}

/** The base URL of the server, without a trailing slash: CURD_PUBLIC_URL, or host and port. */
export function publicBaseUrl({ publicUrl, host, port }: ServerSettings, listeningPort = port): string {
  // 0.0.0.0 and :: mean all interfaces; a browser cannot open them.
  const hostname = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return publicUrl ?? `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${listeningPort}`;
}

/** The URL from which clients read the image with this name. */
export function publicImageUrl(
  config: ServerSettings & { readonly imagesUrl: string | null },
  name: string,
  listeningPort = config.port,
): string {
  return `${config.imagesUrl ?? `${publicBaseUrl(config, listeningPort)}/images`}/${name}`;
}
