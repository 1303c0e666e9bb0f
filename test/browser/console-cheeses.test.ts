/** The catalogue in the console: the list, one cheese, and imports. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { parseMapping } from '../../src/catalogue-import/column-mapping.ts';
import { importCheeses } from '../../src/catalogue-import/import-cheeses.ts';
import { bern, temporaryFolder, until } from '../context.ts';
import { writeCheeseFile } from './cheese-file.ts';
import { screenshot } from './chromium.ts';
import {
  consoleTests,
  findAccessibilityProblems,
  type OpenConsole,
  refreshedMs,
  viewports,
} from './console.ts';

const inConsole = consoleTests({ settings: { CURD_APPROVAL_DELAY: '1h' } });

async function create({ shop }: Pick<OpenConsole, 'shop'>, body: object) {
  const { status, json, text } = await shop.request('POST', '/v2/cheeses', { as: shop.admin, body });
  assert.equal(status, 201, text);
  return json as { readonly id: number; readonly name: string };
}

const read = async ({ shop }: Pick<OpenConsole, 'shop'>, id: number) =>
  (await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.admin })).json;

/** Another client changes a cheese. */
async function patch({ shop }: Pick<OpenConsole, 'shop'>, id: number, body: object): Promise<void> {
  const { status, text } = await shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.writer, body });
  assert.equal(status, 200, text);
}

/** Drops a file on the images, or pastes it. Of noise, a PNG is as large as its pixels. */
async function drop(page: Page, name: string, type: string, pixels: number, isPasted = false): Promise<void> {
  await page.locator('[aria-label="Choose images"].drop-zone').waitFor();
  await page.evaluate(`(async () => {
    const canvas = new OffscreenCanvas(${pixels}, ${pixels});
    const context = canvas.getContext('2d');
    const image = context.createImageData(${pixels}, ${pixels});
    const words = new Uint32Array(image.data.buffer);
    let state = 7;
    for (let at = 0; at < words.length; at += 1) {
      state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
      words[at] = state | 0xff000000;
    }
    context.putImageData(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/png' });
    const transfer = new DataTransfer();
    transfer.items.add(new File([blob], ${JSON.stringify(name)}, { type: ${JSON.stringify(type)} }));
    if (${isPasted}) {
      document.body.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, clipboardData: transfer }));
      return;
    }
    const zone = document.querySelector('[aria-label="Choose images"].drop-zone');
    for (const kind of ['dragover', 'drop']) {
      zone.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }
  })()`);
}

inConsole('The console creates a cheese and uploads images by drop', async (opened) => {
  const { page, goTo } = opened;
  await goTo('/cheeses/new');
  await page.keyboard.press('Control+s');
  await page.getByText('must').first().waitFor();
  await page.getByLabel('Name').fill('Alpkäse');
  await page.getByRole('combobox', { name: 'Category' }).fill('Alpine');
  await page.getByRole('combobox', { name: 'Tags' }).fill('raw milk');
  await page.keyboard.press('Enter');
  await page.getByLabel('Price per kg').fill('38.5');
  await page.keyboard.press('Control+s');
  await page.waitForURL(/\/console\/cheeses\/\d+$/);
  const id = Number(page.url().split('/').at(-1));
  const { name, category, tags, pricePerKg } = await read(opened, id);
  assert.deepEqual(
    [name, category.name, tags.map((tag: { name: string }) => tag.name), pricePerKg],
    ['Alpkäse', 'Alpine', ['raw milk'], 38.5],
  );

  await drop(page, 'cheese.gif', 'image/gif', 4);
  await page
    .getByText('cheese.gif is not an image in a format that the shop takes: use JPEG, PNG or WebP.')
    .waitFor();
  await drop(page, 'small.png', 'image/png', 40);
  await page.getByLabel('Caption of small.png').fill('A wheel');
  await drop(page, 'large.png', 'image/png', 1700);
  await page.evaluate(`window.seen = [];
    new MutationObserver(() => {
      const bar = document.querySelector('[role=progressbar][aria-label^=large]');
      if (bar !== null) window.seen.push(Number(bar.getAttribute('aria-valuenow')));
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`);
  await page.getByRole('button', { name: 'Upload 2 images' }).click();
  await page.getByText('A wheel', { exact: true }).waitFor();
  await page.getByRole('img', { name: 'Alpkäse, image 2' }).waitFor();
  const progress = await page.evaluate<number[]>('window.seen');
  assert.ok(Math.max(...progress) > 0, 'the progress of the large image was visible');
  const images = await opened.shop.request('GET', `/v2/cheeses/${id}/images`, { as: opened.shop.admin });
  assert.ok(images.json.items.some(({ size }: { size: number }) => size > 9_000_000));
  assert.equal(images.json.items[0].caption, 'A wheel');

  const [first, second] = (await read(opened, id)).photoUrls;
  const order = (...expected: readonly string[]) =>
    until(async () => JSON.stringify((await read(opened, id)).photoUrls) === JSON.stringify(expected));
  await drop(page, 'pasted.png', 'image/png', 50, true);
  await page.getByLabel('Caption of pasted.png').press('Enter');
  await page.getByRole('img', { name: 'Alpkäse, image 3' }).waitFor();
  const [, , third] = (await read(opened, id)).photoUrls;
  const image = (number: number) => page.getByRole('img', { name: `Alpkäse, image ${number}` });
  // Another client changes the price meanwhile.
  await patch(opened, id, { pricePerKg: 39 });
  await image(3).dragTo(image(1));
  await order(third, first, second);
  // By keys alone: the focus stays on the image that moves.
  await page.getByRole('button', { name: 'Move image 1 back' }).focus();
  await page.keyboard.press('Enter');
  await order(first, third, second);
  await page.keyboard.press('Enter');
  await order(first, second, third);
  await page.getByRole('button', { name: 'Remove image 3' }).press('Enter');
  await order(first, second);
  await page.getByRole('button', { name: 'Make image 2 the primary one' }).click();
  await until(async () => (await read(opened, id)).photoUrls[0] === second);
  await page.getByRole('button', { name: 'Remove image 1' }).click();
  await until(async () => (await read(opened, id)).photoUrls.length === 1);
  assert.deepEqual((await read(opened, id)).photoUrls, [first]);
  await page.getByText('price none to').waitFor({ state: 'detached' });
  assert.deepEqual(await findAccessibilityProblems(page), []);
});

inConsole('The console edits a price in its row, and asks if another client changed it', async (opened) => {
  const { page, goTo } = opened;
  const { id, name } = await create(opened, { name: 'Comté', pricePerKg: 37 });
  await goTo('/cheeses?q=comt');
  const price = () => page.getByRole('button', { name: `Price of ${name}` });
  const write = async (value: string, theirs?: number) => {
    await price().press('Enter');
    if (theirs !== undefined) {
      await patch(opened, id, { pricePerKg: theirs });
    }
    await page.getByRole('textbox', { name: `Price of ${name}` }).fill(value);
    await page.keyboard.press('Enter');
  };

  await write('38.5');
  await until(async () => (await read(opened, id)).pricePerKg === 38.5);
  await patch(opened, id, { ageMonths: 9 });
  await write('39');
  await until(async () => (await read(opened, id)).pricePerKg === 39);

  await write('41', 40);
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByRole('cell', { name: '$41.00' }).waitFor();
  await dialog.getByRole('cell', { name: '$40.00' }).waitFor();
  await screenshot(page, 'console-cheese-price-conflict');
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await dialog.getByRole('button', { name: 'Use theirs' }).press('Enter');
  await page.getByRole('button', { name: `Price of ${name}: $40.00` }).waitFor();
  assert.equal((await read(opened, id)).pricePerKg, 40);

  await write('43', 42);
  await dialog.getByRole('button', { name: 'Keep mine' }).press('Enter');
  await page.getByRole('button', { name: `Price of ${name}: $43.00` }).waitFor();
  await until(async () => (await read(opened, id)).pricePerKg === 43);

  // A number that could be another one stays in the field.
  const field = page.getByRole('textbox', { name: `Price of ${name}` });
  for (const [text, sentence] of [
    ['1,234.5', 'Write digits without separators of thousands, such as 1234.5.'],
    ['1e9', 'Write digits without separators of thousands, such as 1234.5.'],
    ['12.345', 'Write at most 2 decimals.'],
    ['1000001', 'Write a number from 0 to 1,000,000.'],
  ] as const) {
    await (text === '1,234.5' ? write(text) : field.fill(text));
    await page.getByText(sentence).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).click();
    assert.equal(await field.inputValue(), text);
  }
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await field.press('Escape');
  await price().and(page.locator(':focus')).waitFor();
  assert.equal((await read(opened, id)).pricePerKg, 43);

  // A change can be undone, by its button and by a key; the focus is where it was.
  await write('44.50');
  await until(async () => (await read(opened, id)).pricePerKg === 44.5);
  await price().and(page.locator(':focus')).waitFor();
  await page.getByText(`${name}: price $43.00 to $44.50`).waitFor();
  await page.keyboard.press('u');
  await until(async () => (await read(opened, id)).pricePerKg === 43);
  await page.getByLabel(`Status of ${name}`).selectOption('pending');
  await until(async () => (await read(opened, id)).status === 'pending');
  const notice = page.getByRole('alert').filter({ hasText: `${name}: status available to pending` });
  await notice.getByRole('button', { name: 'Undo' }).press('Enter');
  await until(async () => (await read(opened, id)).status === 'available');
  await page.getByLabel('Search cheeses').fill('comté');
  await page.waitForURL(/q=comt%C3%A9$/);
  await page.getByLabel('Search cheeses').and(page.locator(':focus')).waitFor();
});

inConsole('A form of a cheese keeps what each person changed, and asks about conflicts', async (opened) => {
  const { page, goTo } = opened;
  const { id } = await create(opened, { name: 'Reblochon', origin: 'France', pricePerKg: 20 });
  await goTo(`/cheeses/${id}`);
  await page.getByLabel('Name').fill('Reblochon fermier');
  await page.getByRole('combobox', { name: 'Origin' }).fill('Savoy');
  await goTo('/stock');
  await goTo(`/cheeses/${id}`);
  await page.getByText('not saved').waitFor();
  await patch(opened, id, { ageMonths: 2 });
  await until(async () => (await page.getByRole('textbox', { name: 'Age' }).inputValue()) === '2');
  await patch(opened, id, { name: 'Reblochon de Savoie', origin: 'Alps', pricePerKg: 25 });
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Reblochon' });
  await dialog.getByRole('radio', { name: 'origin, theirs: Alps' }).check();
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await dialog.getByRole('button', { name: 'Save this choice' }).press('Enter');
  await until(async () => (await read(opened, id)).name === 'Reblochon fermier');
  const { origin, pricePerKg, ageMonths } = await read(opened, id);
  assert.deepEqual([origin, pricePerKg, ageMonths], ['Alps', 25, 2]);
  await page.getByText('price $20.00 to $25.00').waitFor();
});

inConsole('The console sells a cheese by a key, and deletes it after naming its orders', async (opened) => {
  const { page, shop, goTo } = opened;
  const { id, name } = await create(opened, { name: 'Munster', pricePerKg: 20 });
  const orders: number[] = [];
  for (const quantity of [1, 2]) {
    const { status, json, text } = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      body: { items: [{ cheeseId: id, quantity }], shippingAddress: bern },
    });
    assert.equal(status, 201, text);
    orders.push(json.id);
  }
  await goTo('/cheeses?q=munst');
  await page.getByRole('link', { name }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('3');
  await until(async () => (await read(opened, id)).status === 'sold');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/cheeses/${id}$`));
  await page.getByRole('button', { name: 'Delete' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: `Delete ${name}` });
  await dialog.getByText(`cancels orders ${orders[0]} and ${orders[1]}`).waitFor();
  const button = dialog.getByRole('button', { name: 'Delete' });
  await dialog.getByText(`deletes cheese ${name}`).waitFor();
  await screenshot(page, 'console-cheese-deletion');
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await button.press('Enter');
  await page.waitForURL(/\/cheeses$/);
  assert.equal((await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.admin })).status, 404);

  // Others change and delete it at once: its page does not ask for it again.
  const { id: other } = await create(opened, { name: 'Munster fermier' });
  await goTo(`/cheeses/${other}`);
  await page.getByRole('heading', { level: 1, name: 'Munster fermier' }).waitFor();
  await page.waitForTimeout(refreshedMs);
  const late: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 404) {
      late.push(response.url());
    }
  });
  await patch(opened, other, { ageMonths: 2 });
  await shop.request('DELETE', `/v2/cheeses/${other}`, {
    as: shop.admin,
    headers: { 'x-confirm-delete': 'true' },
  });
  await page.getByText('There is no such cheese').waitFor();
  await page.waitForTimeout(700);
  assert.deepEqual(late, []);
});

inConsole('The catalogue of the console filters by counts that equal their totals', async (opened) => {
  const { page, goTo } = opened;
  const image = { photoUrls: ['https://example.com/a.jpg'] };
  await create(opened, { name: 'Tilsit A', category: { name: 'Tilsit' }, pricePerKg: 5 });
  await create(opened, { name: 'Tilsit B', category: { name: 'Tilsit' }, ...image });
  await create(opened, { name: 'Tilsit C', category: { name: 'Tilsit' }, status: 'pending' });
  await create(opened, { name: 'Tilsit D', category: { name: 'Tilsit' }, ...image, pricePerKg: 6 });
  await goTo('/cheeses?category=Tilsit');
  const names = async (expected: readonly string[]) => {
    await until(async () => {
      const shown = await page.locator('tbody a').allTextContents();
      return JSON.stringify(shown) === JSON.stringify(expected.map((letter) => `Tilsit ${letter}`));
    });
  };
  await names(['A', 'B', 'C', 'D']);
  const noImage = page.getByRole('button', { name: 'No image 2' });
  await noImage.click();
  await names(['A', 'C']);
  await page.getByText('2 cheeses', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'No price 1' }).click();
  await names(['C']);
  await page.getByRole('button', { name: 'No image 1' }).click();
  await names(['B', 'C']);
  await page.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('checkbox', { name: 'pending 1' }).check();
  await names(['C']);
  assert.match(page.url(), /category=Tilsit&missing=price&status=pending$/);
  await screenshot(page, 'console-cheese-filters');
  assert.deepEqual(await findAccessibilityProblems(page), []);
  await page.keyboard.press('Escape');
  await page.goBack();
  await page.goForward();
  await names(['C']);

  const organic = page.getByRole('columnheader', { name: 'Organic' });
  await organic.waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Organic' }).uncheck();
  await organic.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Columns' }).and(page.locator(':focus')).waitFor();
  await goTo('/');
  await goTo('/cheeses?category=Tilsit');
  await names(['A', 'B', 'C', 'D']);
  assert.equal(await organic.count(), 0);
  assert.deepEqual(await page.evaluate('Object.keys(localStorage)'), ['curd.console.columns']);
});

inConsole('The catalogue of the console changes selected cheeses, and exports the list', async (opened) => {
  const { page, goTo } = opened;
  const { id } = await create(opened, { name: 'Vacherin 1', category: { name: 'Vacherin' } });
  await create(opened, { name: '=Vacherin 2', category: { name: 'Vacherin' } });
  await goTo('/cheeses?category=Vacherin');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const lines = (await readFile(await (await saving).path(), 'utf8')).split('\r\n');
  assert.equal(lines.length, 3);
  assert.match(lines[1] ?? '', /,'=Vacherin 2,Vacherin,/);
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Set sold' }).click();
  await page.getByText('2 of 2 done.').waitFor();
  assert.equal((await read(opened, id)).status, 'sold');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel('Type delete 2 cheeses to confirm').fill('delete 2 cheeses');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('2 of 2 done.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('No cheese matches').waitFor();
});

inConsole('The console reads again what is in view of a long list, and returns to it', async (opened, t) => {
  const { page, shop, goTo } = opened;
  const {
    cheeses: { service: cheeses },
    stock: { service: stock },
    contextOf,
  } = shop.app;
  const file = join(await temporaryFolder(t), 'wheels.csv');
  const names = Array.from({ length: 170 }, (_, index) => `Wheel ${String(index + 1).padStart(3, '0')}`);
  await writeFile(file, ['name,category', ...names.map((name) => `${name},Wheels`)].join('\n'));
  await importCheeses({ cheeses, stock, clock: shop.clock }, contextOf('cli'), file, {});
  await goTo('/cheeses?category=Wheels');
  // By the text: names for accessibility are slow to compute for so many rows.
  const row = (name: string) => page.locator('tbody tr', { hasText: name });
  await row('Wheel 050').waitFor();
  for (const name of ['Wheel 100', 'Wheel 150', 'Wheel 170']) {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await row(name).waitFor();
  }
  await row('Wheel 120').scrollIntoViewIfNeeded();
  await page.waitForURL(/at=/);

  const cursors: (string | null)[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/v2/cheeses' && !url.searchParams.has('missing')) {
      cursors.push(url.searchParams.get('cursor'));
    }
  });
  const idOf = async (name: string) =>
    (await shop.request('GET', `/v2/cheeses?q=${name}&limit=1`, { as: shop.admin })).json.items[0].id;
  await row('Wheel 122').click({ position: { x: 4, y: 4 } });
  await patch(opened, await idOf('Wheel 121'), { pricePerKg: 12.5 });
  await patch(opened, await idOf('Wheel 001'), { pricePerKg: 13.5 });
  await create(opened, { name: 'Wheel 119 B', category: { name: 'Wheels' } });
  const gone = await shop.request('DELETE', `/v2/cheeses/${await idOf('Wheel 150')}`, {
    as: shop.admin,
    headers: { 'x-confirm-delete': 'true' },
  });
  assert.equal(gone.status, 204, gone.text);
  await row('Wheel 121').getByText('$12.50').waitFor();
  await row('Wheel 119 B').waitFor();
  await row('Wheel 150').waitFor({ state: 'detached' });
  // The first page and those in view: at most three of four.
  assert.ok(new Set(cursors).size <= 3 && new Set(cursors).size >= 2, cursors.join());
  assert.equal(await row('Wheel').count(), 170);
  // The same row is selected, although another one came above it.
  assert.equal(await page.locator('tr[data-current] .row-name').textContent(), 'Wheel 122');

  const place = await page.evaluate<number>('Math.round(scrollY)');
  assert.ok(place > 2000);
  await until(() => page.evaluate<boolean>('history.state?.scroll > 2000'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Wheel 122' }).waitFor();
  await page.goBack();
  await row('Wheel 122').waitFor();
  await until(async () => Math.abs((await page.evaluate<number>('scrollY')) - place) < 100);
  assert.equal(await page.locator('tr[data-current] .row-name').textContent(), 'Wheel 122');
  // A page that was not in view is current when it comes into view.
  await page.evaluate('scrollTo(0, 0)');
  await row('Wheel 001').getByText('$13.50').waitFor();
  await page.waitForURL((url) => !url.searchParams.has('at'));

  // A URL that was sent begins at the same page.
  await row('Wheel 120').first().scrollIntoViewIfNeeded();
  await page.waitForURL(/at=/);
  await page.reload();
  await row('Wheel 101').waitFor();
  assert.equal(await row('Wheel 002').count(), 0);
  await page.getByRole('button', { name: 'Show the list from its beginning' }).click();
  await row('Wheel 002').waitFor();
});

inConsole(
  'The console previews, maps and imports a file of cheeses, and updates by it',
  async (opened, t) => {
    const { page, shop, goTo } = opened;
    const folder = await temporaryFolder(t);
    const file = await writeCheeseFile(folder, 1451);
    const {
      cheeses: { service: cheeses },
      stock: { service: stock },
      contextOf,
    } = shop.app;
    const expected = await importCheeses({ cheeses, stock, clock: shop.clock }, contextOf('cli'), file, {
      mapping: parseMapping(['name=Nom', 'category=Type', 'pricePerKg=Price']),
      preview: true,
    });
    const counts = page.getByRole('status', { name: 'Counts' });
    const see = (text: string) => until(async () => (await counts.textContent()) === text);
    const choose = (path: string) => page.locator('input[type=file]').setInputFiles(path);

    await goTo('/import');
    await choose(file);
    await page.getByText('Choose the column of the name').waitFor();
    await page.getByRole('combobox', { name: 'Name' }).click();
    await page.getByRole('option', { name: 'Nom' }).click();
    await page.keyboard.press('Escape');
    const { created, refused } = expected;
    assert.deepEqual([created, refused.length], [1449, 2]);
    await see('New1,449Changed0Unchanged0Refused2');
    await page.setViewportSize(viewports.phone);
    assert.deepEqual(await findAccessibilityProblems(page), []);
    await page.setViewportSize(viewports.wide);
    await page.getByRole('button', { name: 'Import 1,449 cheeses' }).click();
    await page.getByText('1,449 new, 0 changed, 0 unchanged, 2 refused.').waitFor();

    const again = await writeCheeseFile(folder, 1451, { changed: 7, name: 'Name' });
    await choose(again);
    await see('New0Changed0Unchanged1,448Refused3');
    await page.getByText('has this name in this category and differs in price').first().waitFor();
    await page.getByText('To change cheeses that exist, choose "Add and update"').waitFor();
    await page.getByText('Add and update', { exact: true }).click();
    await see('New0Changed1Unchanged1,448Refused2');
    await page
      .getByText(/Line \d+, Cheese/)
      .first()
      .waitFor();
    const change = page
      .getByRole('table', { name: 'Changed cheeses' })
      .getByRole('row', { name: 'Cheese 7 ' });
    assert.deepEqual((await change.getByRole('cell').allTextContents()).slice(2, 3), ['price']);
    await change.getByRole('cell', { name: '$99.00' }).waitFor();
    // Quick changes: the last wins, and the previews of the others end.
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/v2/imports')) {
        statuses.push(response.status());
      }
    });
    for (const label of ['Add new cheeses', 'Add and update', 'Add new cheeses', 'Add and update']) {
      await page.getByText(label, { exact: true }).click();
      await page.waitForTimeout(100);
    }
    await see('New0Changed1Unchanged1,448Refused2');
    assert.ok(
      statuses.every((status) => status === 200),
      statuses.join(),
    );
    const row = page.getByRole('region', { name: 'First rows' }).getByRole('row', { name: 'Cheese 7 ' });
    await row.getByText('changed').waitFor();
    await row.getByRole('cell', { name: '$99.00' }).waitFor();
    await page.getByRole('button', { name: 'Import 1 cheese' }).click();
    await page.getByText('0 new, 1 changed, 1,448 unchanged, 2 refused.').waitFor();
    const { json } = await shop.request('GET', '/v2/cheeses?q=Cheese%207&limit=1', { as: shop.admin });
    assert.deepEqual([json.items[0].name, json.items[0].pricePerKg], ['Cheese 7', 99]);
  },
);
