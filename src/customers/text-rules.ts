/** Text rules of usernames and passwords. */
import type { TextRule } from '../schema/schema.ts';

/** Path segments of other routes: a profile under such a username could not be reached. */
const reservedUsernames = ['login', 'logout', 'createmultiple', 'password-reset', '.', '..'];

/**
 * Visible characters except slashes. A variation selector may follow a character, and a joiner may be between two
 * characters: emoji, Persian and several Indic scripts need them.
 */
const usernameText =
  /^(?:[^/\\\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800][\ufe0e\ufe0f]?(?:\p{Join_Control}(?!$))?)+$/u;

const passwordBytesMax = 1024;

export const usernameRule: TextRule = {
  test: (text) => {
    const visible = text.replace(/\p{Join_Control}|[\ufe0e\ufe0f]/gu, '');
    const name = visible.normalize('NFKC').toUpperCase().toLowerCase();
    return usernameText.test(text) && !reservedUsernames.includes(name);
  },
  message:
    'must have no blanks, slashes, backslashes or invisible characters (joiners between two characters are allowed), and be none of login, logout, createMultiple, password-reset, . and ..',
};

export const passwordRule: TextRule = {
  test: (text) => Buffer.byteLength(text) <= passwordBytesMax,
  message: `must have at most ${passwordBytesMax} bytes in UTF-8`,
};
