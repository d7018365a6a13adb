package qmgrd.e2e;

import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;

import com.ibm.mq.MQException;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import java.util.Hashtable;
import javax.jms.JMSSecurityException;

/**
 * What the vendor's client meets at a queue manager of "qmgrd start --dev": each check is one attempt and the reason code that
 * it must end with. Arguments as {@link Target}; system properties of the JVM name the administrator's password, key and trust
 * store.
 */
public final class Security {
    private final Target target;
    private final Checks checks;

    private Security(String[] args) {
        target = new Target(args);
        checks = new Checks(args);
    }

    private Hashtable<String, Object> props(String channel, String user, String password) {
        Hashtable<String, Object> p = target.props();
        p.put(CMQC.CHANNEL_PROPERTY, channel);
        if (user == null) {
            p.remove(CMQC.USER_ID_PROPERTY);
            p.remove(CMQC.PASSWORD_PROPERTY);
        } else {
            p.put(CMQC.USER_ID_PROPERTY, user);
            p.put(CMQC.PASSWORD_PROPERTY, password);
        }
        return p;
    }

    private interface Act {
        void on(MQQueueManager q) throws Exception;
    }

    private static final Act NOTHING = q -> { };

    /** Connects, acts, and compares the reason with want; 0 is none. */
    private void attempt(String what, int want, Hashtable<String, Object> p, Act act) {
        Checks.Act all = () -> {
            MQQueueManager q = new MQQueueManager(target.qmgr, p);
            try {
                act.on(q);
            } finally {
                q.disconnect();
            }
        };
        checks.check(what, want == 0 ? all : () -> reason(want, all));
    }

    private static Act open(String queue, int options) {
        return q -> q.accessQueue(queue, options).close();
    }

    private static void putGet(MQQueueManager q) throws Exception {
        MQQueue h = q.accessQueue("DEV.QUEUE.1", CMQC.MQOO_OUTPUT | CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_INQUIRE);
        h.put(Target.text("hello"), new MQPutMessageOptions());
        MQMessage r = new MQMessage();
        h.get(r, new MQGetMessageOptions());
        same("hello", Target.text(r));
        same("app", r.userId.trim());
        h.close();
    }

    private static void publish(MQQueueManager q) throws Exception {
        q.accessTopic("", "DEV.BASE.TOPIC", CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT).close();
    }

    private static void publishElsewhere(MQQueueManager q) throws Exception {
        q.accessTopic("elsewhere", null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT).close();
    }

    public static void main(String[] args) throws Exception {
        MQException.logExclude(CMQC.MQRC_NOT_AUTHORIZED);
        Security s = new Security(args);
        s.passwords(s.target.password, System.getProperty("admin.password"));
        s.jms(s.target.password);
        if (System.getProperty("javax.net.ssl.trustStore") != null) {
            s.tls(s.target.password);
        }
        s.checks.exit();
    }

    private void passwords(String app, String adm) {
        attempt("app puts and gets", 0, props("DEV.APP.SVRCONN", "app", app), Security::putGet);
        attempt("app publishes to dev/", 0, props("DEV.APP.SVRCONN", "app", app), Security::publish);
        attempt("app publishes elsewhere", 2035, props("DEV.APP.SVRCONN", "app", app), Security::publishElsewhere);
        attempt("wrong password", 2035, props("DEV.APP.SVRCONN", "app", "wrong-" + app), NOTHING);
        attempt("unknown user", 2035, props("DEV.APP.SVRCONN", "eve", app), NOTHING);
        attempt("no password", 2035, props("DEV.APP.SVRCONN", null, null), NOTHING);
        attempt("administrator on the channel of applications", 2035, props("DEV.APP.SVRCONN", "admin", adm), NOTHING);
        attempt("administrator on his channel", 0, props("DEV.ADMIN.SVRCONN", "admin", adm),
            open("SYSTEM.ADMIN.COMMAND.QUEUE", CMQC.MQOO_OUTPUT));
        attempt("app on the administrator's channel", 2035, props("DEV.ADMIN.SVRCONN", "app", app), NOTHING);
        attempt("SYSTEM channel", 2035, props("SYSTEM.DEF.SVRCONN", "app", app), NOTHING);
        attempt("unknown channel", 2540, props("NO.SUCH.CHANNEL", "app", app), NOTHING);
        attempt("queue without authority", 2035, props("DEV.APP.SVRCONN", "app", app),
            open("SYSTEM.ADMIN.COMMAND.QUEUE", CMQC.MQOO_OUTPUT));
        attempt("set without authority", 2035, props("DEV.APP.SVRCONN", "app", app), open("DEV.QUEUE.1", CMQC.MQOO_SET));
        attempt("context without authority", 2035, props("DEV.APP.SVRCONN", "app", app),
            open("DEV.QUEUE.1", CMQC.MQOO_OUTPUT | CMQC.MQOO_SET_ALL_CONTEXT));
        Hashtable<String, Object> old = props("DEV.APP.SVRCONN", "app", app);
        old.put(CMQC.USE_MQCSP_AUTHENTICATION_PROPERTY, Boolean.FALSE);
        if (app.length() <= 12) { // all that this way has room for
            attempt("compatibility mode", 0, old, Security::putGet);
        }
    }

    /** JMS wraps the reason: a wrong password is a JMSSecurityException. */
    private void jms(String app) throws Exception {
        JmsConnectionFactory f = target.factory();
        checks.check("JMS", () -> f.createConnection("app", app).close());
        checks.check("JMS, wrong password", () -> reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class,
                () -> f.createConnection("app", "wrong-" + app)));
    }

    private void tls(String app) {
        for (String suite : new String[] {"TLS_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}) {
            Hashtable<String, Object> p = props("TLS.CH", "app", app);
            p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, suite);
            attempt("TLS with " + suite, 0, p, Security::putGet);
            p = props("PEER.CH", null, null);
            p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, suite);
            attempt("the certificate's user with " + suite, 0, p, Security::putGet);
        }
        attempt("plain on a channel with SSLCIPH", 2397, props("TLS.CH", "app", app), NOTHING);
        Hashtable<String, Object> p = props("TLS13.CH", "app", app);
        p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
        attempt("TLS 1.2 on a channel of TLS 1.3", 2397, p, NOTHING);
    }
}
