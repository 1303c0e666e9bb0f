/** Errors of the operating system as a reason and a remedy, for people who run commands. */

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied (EACCES). Give the user of this process access to it, or choose another path',
  EPERM: 'permission denied (EPERM). Give the user of this process access to it, or choose another path',
  ENOENT: 'no such file or folder (ENOENT). Create the folder, or correct the path',
  ENOTDIR: 'a part of the path is a file, not a folder (ENOTDIR). Correct the path',
  EEXIST: 'something else has this name already (EEXIST). Choose another path',
  EISDIR: 'it is a folder (EISDIR). Name a file',
  ENOTEMPTY: 'it is a folder with files in it (ENOTEMPTY). Choose another path',
  ELOOP: 'its symbolic links lead in a circle (ELOOP). Correct the path',
  ENAMETOOLONG: 'the name is too long (ENAMETOOLONG). Choose a shorter one',
  EROFS: 'the file system is read-only (EROFS). Choose another path',
  ENOSPC: 'the disk is full (ENOSPC). Free some space and run it again',
  EDQUOT: 'the disk quota is used up (EDQUOT). Free some space and run it again',
  EMFILE: 'too many files are open (EMFILE). Raise the limit of open files (ulimit -n)',
  ENFILE: 'too many files are open on this machine (ENFILE). Raise its limit of open files',
  EIO: 'the disk reported an error (EIO). Check its health before you run it again',
  EBUSY: 'another process is using it (EBUSY). Stop that process first',
};

/** Whether the operating system reported it. */
export function isSystemError(error: unknown): boolean {
  return Object.hasOwn(reasons, String((error as NodeJS.ErrnoException)?.code));
}

const diskCodes = [
  'EIO',
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EFBIG',
  'ENXIO',
  'ENODEV',
  'ESTALE',
  'EMFILE',
  'ENFILE',
];

/** Whether a disk, or the number of open files, is the reason: neither the request nor the program is. */
export function isDiskError(error: unknown): boolean {
  return diskCodes.includes(String((error as NodeJS.ErrnoException)?.code));
}

/** Why something failed, and what to do, without a full stop; the message of the error where it is none of the known. */
export function reasonOf(error: unknown): string {
  const { code = '', message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** The same as a whole sentence about the path of the error. */
export function systemErrorText(error: unknown): string {
  const { path } = (error ?? {}) as NodeJS.ErrnoException;
  const subject = path === undefined ? '' : `${path} cannot be used: `;
  return isSystemError(error) ? `${subject}${reasonOf(error)}.` : reasonOf(error);
}

/** Why a server cannot listen, and what to do; null where it is something else. */
export function listenErrorText(error: unknown, host: string, port: number): string | null {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `Port ${port} is taken: choose another with --port or CURD_PORT.`;
    case 'EACCES':
      return `Port ${port} is reserved for privileged users: choose one from 1024 on with --port or CURD_PORT, and put a proxy in front.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no network address ${host}: choose one of its own with --host or CURD_HOST, such as 127.0.0.1, or 0.0.0.0 for all.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${host} has no network address: choose another with --host or CURD_HOST, such as 127.0.0.1, or 0.0.0.0 for all.`;
    default:
      return null;
  }
}
