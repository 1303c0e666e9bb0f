/**
 * Sign-in with a password in a window beside the page, so that the page keeps its open forms. The window is the console
 * itself: it signs in as usual, and then hands its tokens over through a channel that only the two know.
 */

const parameter = 'sign-in';
/** The page may be closed by then: the window keeps its tokens and is a console of its own. */
const handOverMs = 2000;

const channelOf = (id: string) => new BroadcastChannel(`curd.console.sign-in.${id}`);

let listening: BroadcastChannel | null = null;

/**
 * Opens the window. Call it while a click is handled.
 * @returns false if the browser blocks it
 */
export function openSignInWindow(onTokens: (tokens: string) => void): boolean {
  listening?.close();
  const id = crypto.randomUUID();
  const channel = channelOf(id);
  listening = channel;
  channel.onmessage = ({ data }) => {
    channel.postMessage('received');
    channel.close();
    onTokens(data);
  };
  const url = `${window.location.origin}/console/?${parameter}=${id}`;
  return window.open(url, '_blank', 'popup,width=520,height=720') !== null;
}

/** The page that the window was opened for; null in other pages. */
export function pageOfWindow(): string | null {
  return new URLSearchParams(window.location.search).get(parameter);
}

/** Sends the tokens to the page. Returns whether it has received them. */
export async function handOver(page: string, tokens: string): Promise<boolean> {
  const channel = channelOf(page);
  const isReceived = await new Promise<boolean>((resolve) => {
    channel.onmessage = () => resolve(true);
    window.setTimeout(() => resolve(false), handOverMs);
    channel.postMessage(tokens);
  });
  channel.close();
  return isReceived;
}
