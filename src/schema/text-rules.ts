/** Named kinds of text that schemas refer to by `format`, each with the words for what does not fit. */
import { parseDuration } from '../duration.ts';

interface Format {
  readonly test: (text: string) => boolean;
  readonly message: string;
}

const control = /\p{Cc}/u;

/** Assigned by ISO 3166-1 (2026), and XK, by which Kosovo goes everywhere. */
const countries = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
  CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE
  GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM
  KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
  NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH
  SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG
  VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
);

/** What is valid for an input of the type email in a browser (HTML, section 4.10.5.1.5). */
const emailAddress =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/** Words that stand in paths where a username could: nobody with such a name could ever be read. */
const reservedUsernames = ['login', 'logout', 'createmultiple', '.', '..'];

/**
 * Visible characters without slashes. A variation selector may follow one, and a joiner may stand between two: emoji,
 * Persian and several Indic scripts are not written correctly without them.
 */
const usernameText =
  /^(?:[^/\\\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800][\ufe0e\ufe0f]?(?:\p{Join_Control}(?!$))?)+$/u;

const passwordBytesMax = 1024;

export const formats: Readonly<Record<string, Format>> = {
  /** One line of visible text, kept exactly as sent. */
  line: {
    test: (text) => /\S/u.test(text) && !control.test(text),
    message: 'must hold at least one visible character and no control characters',
  },
  /** One line that may be empty. */
  words: {
    test: (text) => !control.test(text),
    message: 'must not hold control characters',
  },
  /** Several lines, kept exactly as sent. */
  text: {
    test: (text) => !/[^\P{Cc}\t\n\r]/u.test(text),
    message: 'must not hold control characters but tabs and line breaks',
  },
  username: {
    test: (text) => {
      const visible = text.replace(/\p{Join_Control}|[\ufe0e\ufe0f]/gu, '');
      const name = visible.normalize('NFKC').toUpperCase().toLowerCase();
      return usernameText.test(text) && !reservedUsernames.includes(name);
    },
    message:
      'must have no blanks, slashes, backslashes or invisible characters (joiners between two characters are allowed), and be none of login, logout, createMultiple, . and ..',
  },
  email: {
    test: (text) => emailAddress.test(text),
    message: 'must be an e-mail address such as ada@example.com',
  },
  password: {
    test: (text) => Buffer.byteLength(text) <= passwordBytesMax,
    message: `must have at most ${passwordBytesMax} bytes in UTF-8`,
  },
  /** ISO 3166-1 alpha-2, in either case. */
  country: {
    test: (text) => /^[a-z]{2}$/i.test(text) && countries.has(text.toUpperCase()),
    message: 'must be a country code of two letters (ISO 3166-1), such as CH',
  },
  tag: {
    test: (text) => /\S/u.test(text) && !control.test(text) && !text.includes(','),
    message: 'must hold at least one visible character, and neither commas nor control characters',
  },
  /** An address for a web page to show. Schemes that carry a script or a local file are refused. */
  'photo-url': {
    test: (text) => !control.test(text) && !/^\s*(javascript|data|file)\s*:/i.test(text),
    message: 'must be an address without control characters, and not of the scheme javascript, data or file',
  },
  /** RFC 3339, section 5.6. */
  moment: {
    test: isMoment,
    message: 'must be a time such as 2026-01-15T09:30:00Z',
  },
  duration: {
    test: (text) => parseDuration(text) !== null,
    message: 'must be a whole number and a unit, such as 15m, 24h or 90d',
  },
  lifetime: {
    test: (text) => (parseDuration(text) ?? 0) > 0,
    message: 'must be a whole number above 0 and a unit, such as 24h or 90d',
  },
};

/** Date.parse alone would take the 30th of February for the 2nd of March. */
function isMoment(text: string): boolean {
  const [, date = ''] =
    /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  const day = Date.parse(date);
  const moment = Date.parse(text);
  // Beyond the year 9999, times no longer sort as their text does.
  return (
    !Number.isNaN(day) &&
    new Date(day).toISOString().startsWith(date) &&
    moment >= Date.parse('0000-01-01T00:00:00Z') &&
    moment < Date.parse('+010000-01-01T00:00:00Z')
  );
}
