/** Every setting of the server: flags of the commands, environment variables and docs/configuration.md come from it. */

export interface Setting {
  readonly variable: `CURD_${string}`;
  readonly flag: string;
  readonly placeholder: string;
  readonly default: string;
  readonly help: string;
}

export const settings = [
  {
    variable: 'CURD_ENVIRONMENT',
    flag: 'environment',
    placeholder: 'name',
    default: 'local',
    help: 'local, sandbox or production: decides which API keys are taken and which defaults are safe',
  },
  {
    variable: 'CURD_HOST',
    flag: 'host',
    placeholder: 'address',
    default: '127.0.0.1',
    help: 'address to listen on',
  },
  {
    variable: 'CURD_PORT',
    flag: 'port',
    placeholder: 'number',
    default: '8080',
    help: 'port to listen on; 0 takes a free one',
  },
  {
    variable: 'CURD_PUBLIC_URL',
    flag: 'public-url',
    placeholder: 'url',
    default: 'from host and port',
    help: 'where clients reach this server; https in production, unless it is a loopback address',
  },
  {
    variable: 'CURD_DATA_DIR',
    flag: 'data-dir',
    placeholder: 'folder',
    default: './data',
    help: 'folder of the SQLite file, the pictures and what is being uploaded',
  },
  {
    variable: 'CURD_DATABASE',
    flag: 'database',
    placeholder: 'url',
    default: 'sqlite: in the data folder',
    help: 'sqlite:<file> or postgres://user:password@host/name',
  },
  {
    variable: 'CURD_IMAGES',
    flag: 'images',
    placeholder: 'place',
    default: 'file: in the data folder',
    help: 'file:<folder>, or s3://bucket/prefix with address and credentials in AWS_* variables',
  },
  {
    variable: 'CURD_IMAGES_URL',
    flag: 'images-url',
    placeholder: 'url',
    default: 'this server',
    help: 'where else pictures can be read: a network that delivers them, or the bucket itself',
  },
  {
    variable: 'CURD_SECRET',
    flag: 'secret',
    placeholder: 'text',
    default: 'made and kept in the data folder (local on SQLite only)',
    help: 'at least 32 bytes; signs cursors and seals stored answers; the same on every instance',
  },
  {
    variable: 'CURD_PLANS',
    flag: 'plans',
    placeholder: 'json',
    default:
      '{"free":{"perHour":100,"burst":10},"pro":{"perHour":10000,"burst":100},"enterprise":{"perHour":null,"burst":1000}}, ten times that in sandbox',
    help: 'requests an hour and a second that a plan permits; further plans may be named',
  },
  {
    variable: 'CURD_SESSION_PLAN',
    flag: 'session-plan',
    placeholder: 'plan',
    default: 'enterprise in local, free elsewhere',
    help: 'plan of a customer who is logged in',
  },
  {
    variable: 'CURD_ADDRESS_LIMITS',
    flag: 'address-limits',
    placeholder: 'json',
    default:
      '{"perMinute":600,"accountsPerMinute":60,"publicPerMinute":6000} in production; 6000, 6000 and 60000 in sandbox; 60000 of each in local',
    help: 'requests a minute from one client IP without a valid credential; accountsPerMinute is for logins and registrations, publicPerMinute for pages, images and health checks',
  },
  {
    variable: 'CURD_APPROVAL_DELAY',
    flag: 'approval-delay',
    placeholder: 'duration',
    default: '5s',
    help: 'how long an order stays placed before it is approved by itself',
  },
  {
    variable: 'CURD_SHIPPING_TIME',
    flag: 'shipping-time',
    placeholder: 'duration',
    default: '2d',
    help: 'from the approval of an order to its estimated shipDate',
  },
  {
    variable: 'CURD_REQUIRE_PRICE',
    flag: 'require-price',
    placeholder: 'bool',
    default: 'false',
    help: 'true refuses orders of cheeses without a price; otherwise they wait for a person to approve them',
  },
  {
    variable: 'CURD_ORDERS_PER_HOUR',
    flag: 'orders-per-hour',
    placeholder: 'number',
    default: 'off',
    help: 'how many orders one credential may place within an hour',
  },
  {
    variable: 'CURD_TIERS',
    flag: 'tiers',
    placeholder: 'json',
    default: '{"silver":500,"gold":2000,"platinum":10000}',
    help: 'US dollars of delivered orders from which a customer is in a tier',
  },
  {
    variable: 'CURD_REGISTRATION',
    flag: 'registration',
    placeholder: 'who',
    default: 'open',
    help: 'open lets anyone register a customer; key asks for an API key',
  },
  {
    variable: 'CURD_PASSWORD_MIN',
    flag: 'password-min',
    placeholder: 'number',
    default: '8 in production, 1 elsewhere',
    help: 'least number of characters in a password',
  },
  {
    variable: 'CURD_LOGIN_LIMITS',
    flag: 'login-limits',
    placeholder: 'json',
    default: '{"pair":10,"address":100,"username":100}, ten times that in local',
    help: 'failed logins for a username from one address and for an address in 15 minutes, for a username in an hour',
  },
  {
    variable: 'CURD_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    placeholder: 'list',
    default: 'none',
    help: 'addresses or networks, separated by commas, whose X-Forwarded-For says where a request comes from',
  },
  {
    variable: 'CURD_CORS_ORIGINS',
    flag: 'cors-origins',
    placeholder: 'list',
    default: '*',
    help: 'origins of web pages that may call this server, separated by commas',
  },
  {
    variable: 'CURD_MAX_CONNECTIONS',
    flag: 'max-connections',
    placeholder: 'number',
    default: '10000',
    help: 'how many connections may be open at once; further ones are closed at once',
  },
  {
    variable: 'CURD_HEADERS_TIMEOUT',
    flag: 'headers-timeout',
    placeholder: 'duration',
    default: '15s',
    help: 'how long the request line and headers may take to arrive',
  },
  {
    variable: 'CURD_REQUEST_TIMEOUT',
    flag: 'request-timeout',
    placeholder: 'duration',
    default: '60s',
    help: 'how long a whole request may take to arrive',
  },
  {
    variable: 'CURD_UPLOAD_TIMEOUT',
    flag: 'upload-timeout',
    placeholder: 'duration',
    default: '120s',
    help: 'how long an upload may take to arrive; also ends connections on which nothing moves',
  },
  {
    variable: 'CURD_IDLE_TIMEOUT',
    flag: 'idle-timeout',
    placeholder: 'duration',
    default: '75s',
    help: 'how long a connection may wait for its next request',
  },
  {
    variable: 'CURD_MIN_FREE_SPACE',
    flag: 'min-free-space',
    placeholder: 'mebibytes',
    default: '32',
    help: 'free disk space in MiB below which /readyz is 503; 0 turns this off',
  },
  {
    variable: 'CURD_LOG_LEVEL',
    flag: 'log-level',
    placeholder: 'level',
    default: 'info',
    help: 'debug, info, warn, error or silent; debug writes a line for each request',
  },
  {
    variable: 'CURD_LOG_CLIENT_IP',
    flag: 'log-client-ip',
    placeholder: 'bool',
    default: 'true',
    help: 'false leaves the client IP out of the log',
  },
] as const satisfies readonly Setting[];
