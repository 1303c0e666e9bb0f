/**
 * Sends the request of the form on the page of an operation, and shows the response. The credential is in a header only: never
 * in a URL, which logs and the history would keep, and never in a storage, which other pages could read.
 */
const form = document.querySelector('form.send');
const output = document.querySelector('[role=status]');
const stop = form.querySelector('[type=reset]');
const shownMax = 200_000;
let sending = new AbortController();

/** The fields in a place that have a value: [name, value]. */
const valuesIn = (place) =>
  [...form.querySelectorAll(`[data-in=${place}]`)]
    .filter(({ value }) => value !== '')
    .map((field) => [field.dataset.name, field.files?.[0] ?? field.value]);

function urlOf() {
  const ids = Object.fromEntries(valuesIn('path'));
  const path = form.dataset.path.replace(/\{(\w+)\}/g, (_, name) => {
    // A browser would remove these parts, and send the request to another path.
    if (/^\.{1,2}$/.test(ids[name])) {
      throw new Error(`${name} must not be "${ids[name]}".`);
    }
    return encodeURIComponent(ids[name]);
  });
  const query = new URLSearchParams(valuesIn('query')).toString();
  return query === '' ? path : `${path}?${query}`;
}

function requestOf(signal) {
  const { method, type } = form.dataset;
  const headers = new Headers(valuesIn('header'));
  const [[, credential] = []] = valuesIn('credential');
  if (credential !== undefined) {
    headers.set('Authorization', `Bearer ${credential.trim()}`);
  }
  let [[, body] = []] = valuesIn('body');
  if (body !== undefined) {
    headers.set('Content-Type', type);
  } else if (type === 'multipart/form-data' || type === 'application/x-www-form-urlencoded') {
    body = type === 'multipart/form-data' ? new FormData() : new URLSearchParams();
    for (const [name, value] of valuesIn('form')) {
      body.append(name, value);
    }
  }
  return { method, headers, body, credentials: 'omit', signal };
}

async function show(response, controller) {
  const head = [
    `${response.status} ${response.statusText}`,
    ...[...response.headers].map((pair) => pair.join(': ')),
  ];
  const start = `${head.join('\n')}\n\n`;
  output.textContent = start;
  const type = response.headers.get('Content-Type') ?? '';
  if (response.body === null || !/text|json|javascript|xml/.test(type)) {
    controller.abort();
    return;
  }
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    output.textContent = start + text;
    if (text.length > shownMax) {
      output.textContent = `${start}${text.slice(0, shownMax)}\n(The rest is not shown.)`;
      controller.abort();
      return;
    }
  }
  if (type.includes('json')) {
    output.textContent = start + JSON.stringify(JSON.parse(text), null, 2);
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  sending.abort();
  const own = new AbortController();
  sending = own;
  stop.disabled = false;
  output.hidden = false;
  output.textContent = 'Sending ...';
  try {
    await show(await fetch(urlOf(), requestOf(own.signal)), own);
  } catch (error) {
    if (!own.signal.aborted) {
      output.textContent = `The request failed: ${error.message}`;
    }
  }
  stop.disabled = sending === own;
});
form.addEventListener('reset', (event) => {
  event.preventDefault();
  sending.abort();
  output.textContent += '\n(Stopped.)';
});
form.hidden = false;
