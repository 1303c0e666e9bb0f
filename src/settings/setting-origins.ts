/** The settings as they were given, for operators: without secrets. */
import { defaultIn, type Setting, type SettingContext } from './setting.ts';
import { settings, type Variable } from './table.ts';

export const settingOrigins = ['default', 'environment', 'flag'] as const;

/** A setting with its text and where that comes from. */
export interface GivenSetting {
  readonly variable: Variable;
  /** null if the setting has no value by default. */
  readonly value: string | null;
  readonly origin: (typeof settingOrigins)[number];
}

type Texts = Readonly<Partial<Record<Variable, string | undefined>>>;

/**
 * @param values the parsed settings, on which defaults depend
 * @param flags those of the texts that came from flags
 */
export function givenSettings(raw: Texts, flags: Texts, values: unknown): GivenSetting[] {
  return Object.values(settings).map((setting: Setting) => {
    const variable = setting.variable as Variable;
    const text = raw[variable];
    const value = text ?? defaultIn(setting, values as SettingContext);
    const isFlag = text !== undefined && flags[variable] === text;
    return {
      variable,
      value:
        ['CURD_SECRET', 'CURD_LOCAL_KEY'].includes(variable) && (value ?? '') !== ''
          ? masked
          : value === null
            ? null
            : withoutSecrets(value),
      origin: text === undefined ? 'default' : isFlag ? 'flag' : 'environment',
    };
  });
}

const masked = '***';

/** Replaces passwords in a URL: those before the host, and parameters whose names say that they are secret. */
export function withoutSecrets(text: string): string {
  const [, scheme, authority = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (scheme === undefined) {
    return text;
  }
  // A password can contain characters that must be encoded in a URL. What follows could be a part of it.
  if (/@/.test(rest)) {
    return `${scheme}${masked}`;
  }
  const at = authority.lastIndexOf('@');
  const login = at === -1 ? '' : `${loginOf(scheme, authority.slice(0, at))}@`;
  const [path = '', ...queries] = rest.split('?');
  const parameters = queries.flatMap((query) => query.split('&')).map(parameterOf);
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `${scheme}${login}${authority.slice(at + 1)}${path}${query}`;
}

/** The name stays if a password follows, or if it is known to be a name. */
function loginOf(scheme: string, login: string): string {
  const colon = login.indexOf(':');
  if (colon !== -1) {
    return `${login.slice(0, colon)}:${masked}`;
  }
  return scheme.toLowerCase().startsWith('postgres') ? login : masked;
}

function parameterOf(text: string): string {
  const [name = ''] = text.split('=', 1);
  return /pass|secret|token|key|credential|signature/i.test(name) ? `${name}=${masked}` : text;
}
